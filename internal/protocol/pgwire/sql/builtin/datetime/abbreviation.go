package datetime

import "strings"

// movingAbbreviations maps zone abbreviations whose offset has changed over time to their zones.
var movingAbbreviations = func() map[string]string {
	all := map[string]string{}
	for _, entry := range strings.Split(strings.ReplaceAll(`art America/Argentina/Buenos_Aires, arst America/Argentina/Buenos_Aires, clt America/Santiago, gyt America/Guyana, pyt 
America/Asuncion, vet America/Caracas, davt Antarctica/Davis, mawt Antarctica/Mawson, amst Asia/Yerevan, anast Asia/Anadyr, anat 
Asia/Anadyr, azst Asia/Baku, azt Asia/Baku, gest Asia/Tbilisi, get Asia/Tbilisi, irkst Asia/Irkutsk, irkt Asia/Irkutsk, kgt 
Asia/Bishkek, krast Asia/Krasnoyarsk, krat Asia/Krasnoyarsk, lkt Asia/Colombo, magst Asia/Magadan, magt Asia/Magadan, novst 
Asia/Novosibirsk, novt Asia/Novosibirsk, omsst Asia/Omsk, omst Asia/Omsk, petst Asia/Kamchatka, pett Asia/Kamchatka, sgt 
Asia/Singapore, tmt Asia/Ashgabat, ulat Asia/Ulaanbaatar, vlast Asia/Vladivostok, vlat Asia/Vladivostok, yakst Asia/Yakutsk, yakt 
Asia/Yakutsk, yekt Asia/Yekaterinburg, fkst Atlantic/Stanley, fkt Atlantic/Stanley, lhdt Australia/Lord_Howe, msk Europe/Moscow, 
volt Europe/Volgograd, iot Indian/Chagos, ckt Pacific/Rarotonga, easst Pacific/Easter, east Pacific/Easter, kost Pacific/Kosrae, 
lint Pacific/Kiritimati, nut Pacific/Niue, tkt Pacific/Fakaofo`, "\n", ""), ", ") {
		abbreviation, zone, _ := strings.Cut(entry, " ")
		all[abbreviation] = zone
	}
	return all
}()
